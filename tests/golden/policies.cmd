resched policies; resched policies eevdf; resched policies cfs --csv | grep -E '^(policy|cfs,(4.18|stage-lag)),'
