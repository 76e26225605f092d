import type { parseTimeRange } from '../../components/forms/time-range-control.js';

/** Query parameters shared by all reports of the page. */
export type UsageQuery = ReturnType<typeof parseTimeRange> & { readonly agentId?: string; readonly projectId?: string };
