/** Renders the status page: one HTML document that reloads itself, without scripts or external resources. */
import { cspSourceHash, escapeHtml } from '../http/html-escape-and-csp-hash.js';
import { BASE_PAGE_STYLE, PAGE_HEADER } from '../http/page-style.js';
import type { Health } from './provider-health.js';
import type { StatusSnapshot } from './status-service.js';

const RELOAD_S = 15;

const STYLE = `${BASE_PAGE_STYLE}
body { padding: 3rem 1rem; }
main, header, footer { max-width: 40rem; margin-left: auto; margin-right: auto; }
main { padding: 1.5rem; }
h1 { display: flex; align-items: center; gap: .75rem; }
ul { margin: 0; padding: 0; list-style: none; }
li { display: flex; justify-content: space-between; gap: 1rem; padding: .625rem 0; border-top: 1px solid var(--line);
  font-size: .875rem; overflow-wrap: anywhere; }
li:last-child { padding-bottom: 0; }
.state { display: inline-flex; align-items: center; gap: .375rem; flex: none; }
.dot { flex: none; width: .5rem; height: .5rem; border-radius: 50%; }
h1 .dot { width: .75rem; height: .75rem; }
.operational { background: var(--good); }
.degraded { background: var(--warn); }
.outage { background: var(--bad); }
footer { margin-top: 1rem; font-size: .875rem; color: var(--quiet); }
`;

/** Blocks every script; allows the one style by its digest. */
export const STATUS_PAGE_CSP = `default-src 'none'; style-src ${cspSourceHash(STYLE)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const HEADLINES: Readonly<Record<Health, string>> = {
  operational: 'All providers are operational',
  degraded: 'Some providers are recovering',
  outage: 'Some providers are failing',
};

/** Decorative only: the text next to it states the health. */
const dot = (health: Health): string => `<span class="dot ${health}" aria-hidden="true"></span>`;

const SECOND_CHARS = 19;
/** Formats `2026-11-22 04:10:33 UTC`. */
const utc = (iso: string): string => `${iso.slice(0, SECOND_CHARS).replace('T', ' ')} UTC`;

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
${PAGE_HEADER}
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
