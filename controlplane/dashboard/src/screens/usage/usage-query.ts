import type { parseTimeRange } from '../../components/forms/time-range-control.js';

/** What all parts of the screen ask about. */
export type UsageQuery = ReturnType<typeof parseTimeRange> & { readonly agentId?: string; readonly projectId?: string };
