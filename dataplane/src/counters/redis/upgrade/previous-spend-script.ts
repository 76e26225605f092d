/** The script that keeps budgets in the layout of the previous release. */
import { readFileSync } from 'node:fs';

export const PREVIOUS_SPEND_SCRIPT = readFileSync(new URL('./previous-spend.lua', import.meta.url), 'utf8');
