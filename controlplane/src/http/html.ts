/** What every page that this service makes itself needs. */
import { createHash } from 'node:crypto';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** For text and for attributes in double quotes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character]!);

/** Of a script or style within the page: what its Content-Security-Policy allows it by. */
export const cspSourceHash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
