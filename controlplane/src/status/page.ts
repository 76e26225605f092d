/** The status page: one HTML document without scripts or anything from elsewhere; it reloads itself. */
import { escapeHtml, sourceHash } from '../http/html.js';
import type { Health } from './provider-health.js';
import type { StatusSnapshot } from './service.js';

const RELOAD_S = 15;

const STYLE = `
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:40rem;margin:3rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}
td{padding:.6rem 0;border-top:1px solid #8884}
td+td{text-align:right}
.operational{color:#1a7f37}.degraded{color:#9a6700}.outage{color:#cf222e}
footer{margin-top:1rem;opacity:.7;font-size:.85rem}`;

/** No script can run; the one style is allowed by its digest. */
export const PAGE_POLICY = `default-src 'none'; style-src ${sourceHash(STYLE)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const HEADLINES: Readonly<Record<Health, string>> = {
  operational: 'All providers are operational',
  degraded: 'Some providers are recovering',
  outage: 'Some providers are failing',
};

export function renderStatusPage(snapshot: StatusSnapshot): string {
  const rows = snapshot.providers
    .map(
      ({ displayName, status }) => `<tr><td>${escapeHtml(displayName)}</td><td class="${status}">${status}</td></tr>`,
    )
    .join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="${RELOAD_S}">
<title>Provider status</title>
<style>${STYLE}</style>
</head>
<body>
<h1 class="${snapshot.status}">${HEADLINES[snapshot.status]}</h1>
<table>
${rows}
</table>
<footer>As the gateway sees them, ${escapeHtml(snapshot.lastUpdated)}. As data: <a href="/v1/status">/v1/status</a></footer>
</body>
</html>
`;
}
