import type { rangeOf } from '../../parts/range-control.js';

/** What all parts of the screen ask about. */
export type UsageQuery = ReturnType<typeof rangeOf> & { readonly agentId?: string; readonly projectId?: string };
