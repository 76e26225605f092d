/** Helpers for the HTML pages that this service generates. */
import { createHash } from 'node:crypto';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes for text and for attributes in double quotes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character]!);

/** Content-Security-Policy source that allows this inline script or style. */
export const cspSourceHash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
