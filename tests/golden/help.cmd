resched help; resched help report
