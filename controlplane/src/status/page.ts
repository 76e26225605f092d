/** The status page: one HTML document without scripts or anything from elsewhere; it reloads itself. */
import { escapeHtml, sourceHash } from '../http/html.js';
import type { Health } from './provider-health.js';
import type { StatusSnapshot } from './service.js';

const RELOAD_S = 15;

/** The look of the dashboard, without its files. */
const STYLE = `
:root { color-scheme: light dark; font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --page: #f8f9fa; --surface: #fff; --line: #dee2e6; --ink: #000; --quiet: #495057; --focus: #3b5bdb;
  --operational: #2b8a3e; --degraded: #8a4b00; --outage: #c92a2a; }
@media (prefers-color-scheme: dark) { :root { --page: #1f1f1f; --surface: #242424; --line: #424242; --ink: #c9c9c9;
  --quiet: #b8b8b8; --focus: #748ffc; --operational: #69db7c; --degraded: #ffd43b; --outage: #ff8787; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 3rem 1rem; background: var(--page); color: var(--ink); }
main, header, footer { max-width: 40rem; margin: 0 auto; }
header { font-weight: 650; margin-bottom: 1.25rem; }
main { padding: 1.5rem; background: var(--surface); border: 1px solid var(--line); border-radius: 8px; }
h1 { display: flex; align-items: center; gap: .75rem; margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.3; font-weight: 650; }
ul { margin: 0; padding: 0; list-style: none; }
li { display: flex; justify-content: space-between; gap: 1rem; padding: .625rem 0; border-top: 1px solid var(--line);
  font-size: .875rem; overflow-wrap: anywhere; }
li:last-child { padding-bottom: 0; }
.state { display: inline-flex; align-items: center; gap: .375rem; flex: none; }
.dot { flex: none; width: .5rem; height: .5rem; border-radius: 50%; background: var(--quiet); }
h1 .dot { width: .75rem; height: .75rem; }
.operational { background: var(--operational); }
.degraded { background: var(--degraded); }
.outage { background: var(--outage); }
footer { margin-top: 1rem; font-size: .875rem; color: var(--quiet); }
a { color: inherit; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
`;

/** No script can run; the one style is allowed by its digest. */
export const PAGE_POLICY = `default-src 'none'; style-src ${sourceHash(STYLE)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const HEADLINES: Readonly<Record<Health, string>> = {
  operational: 'All providers are operational',
  degraded: 'Some providers are recovering',
  outage: 'Some providers are failing',
};

/** The word says what the colour does. */
const dot = (health: Health): string => `<span class="dot ${health}" aria-hidden="true"></span>`;

const MINUTE_CHARS = 16;
/** `2026-11-22 04:10:33 UTC`. */
const utc = (iso: string): string => `${iso.slice(0, MINUTE_CHARS + 3).replace('T', ' ')} UTC`;

export function renderStatusPage(snapshot: StatusSnapshot): string {
  const rows = snapshot.providers
    .map(
      ({ displayName, status }) =>
        `<li><span>${escapeHtml(displayName)}</span><span class="state">${dot(status)}${status}</span></li>`,
    )
    .join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${RELOAD_S}">
<title>Provider status</title>
<style>${STYLE}</style>
</head>
<body>
<header>Agent Credential Gateway</header>
<main>
<h1>${dot(snapshot.status)}${HEADLINES[snapshot.status]}</h1>
<ul>
${rows}
</ul>
</main>
<footer>As the gateway sees them, <time datetime="${escapeHtml(snapshot.lastUpdated)}">${escapeHtml(utc(snapshot.lastUpdated))}</time>. As data: <a href="v1/status">/v1/status</a></footer>
</body>
</html>
`;
}
