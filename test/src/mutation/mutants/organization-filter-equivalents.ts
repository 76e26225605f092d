import type { Equivalents } from '../organization-filters.js';

export const ORGANIZATION_FILTER_EQUIVALENTS: Equivalents = {};
