resched help report
