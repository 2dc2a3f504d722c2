// SPDX-License-Identifier: GPL-2.0-only
/* What the model says of the waits found. */
#include "analysis/outliers.h"

#include <stdlib.h>
#include <string.h>
#include <resched/explain.h>

#include "base/error.h"

static void take(struct resched_outlier *o, const struct resched_wait_why *w)
{
	o->has_why = *w->text != '\0';
	o->why_code = resched_why_code(w->most);
	o->why_ns = w->ns[w->most];
	memcpy(o->why, w->text, sizeof(o->why));
}

int resched_outliers_ask(const struct resched_outliers *o, struct resched_explainer *explainer, struct resched_wait_why **ret,
			 struct resched_error *err)
{
	struct resched_wait *waits = calloc(o->nr + 1u, sizeof(*waits));
	struct resched_wait_why *whys = calloc(o->nr + 1u, sizeof(*whys));
	int rc = waits && whys ? 0 : rs_error_nomem(err);

	for (unsigned int i = 0; i < o->nr && rc == 0; i++)
		waits[i] = (struct resched_wait){ o->heap[i].pid, o->heap[i].wake_ns, o->heap[i].run_ns };
	if (rc == 0)
		rc = resched_explainer_waits(explainer, o->nr, waits, whys, err);
	free(waits);
	if (rc < 0)
		free(whys);
	else
		*ret = whys;
	return rc;
}

void resched_outliers_tell(struct resched_outliers *o, const struct resched_wait_why *whys)
{
	for (unsigned int i = 0; i < o->nr; i++)
		take(&o->heap[i], &whys[i]);
}

int resched_outliers_explain(struct resched_outliers *o, struct resched_explainer *explainer, struct resched_error *err)
{
	struct resched_wait_why *whys;
	int rc = resched_outliers_ask(o, explainer, &whys, err);

	if (rc < 0)
		return rc;
	resched_outliers_tell(o, whys);
	free(whys);
	return 0;
}
