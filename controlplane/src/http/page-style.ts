/**
 * Style of the HTML pages that this server generates itself: the dashboard's colors in both themes, its font and the
 * product logo. These pages load no files of the dashboard.
 */

/** Start of the page's only style element. */
export const BASE_PAGE_STYLE = `
:root { color-scheme: light dark; font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --page: #f8f9fa; --surface: #fff; --line: #dee2e6; --ink: #000; --quiet: #495057; --field: #fff; --edge: #868e96;
  --chosen: #3b5bdb; --focus: #3b5bdb; --good: #2b8a3e; --warn: #8a4b00; --bad: #c92a2a; }
@media (prefers-color-scheme: dark) { :root { --page: #1f1f1f; --surface: #242424; --line: #424242; --ink: #c9c9c9;
  --quiet: #b8b8b8; --field: #2e2e2e; --edge: #828282; --focus: #748ffc; --good: #69db7c; --warn: #ffd43b; --bad: #ff8787; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); }
header { display: flex; align-items: center; gap: .75rem; margin-bottom: 1.25rem; font-weight: 650; }
main { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.3; font-weight: 650; }
a { color: inherit; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
[hidden] { display: none; }
`;

/** First element of the body. */
export const PAGE_HEADER =
  '<header><svg viewBox="0 0 32 32" width="32" height="32" aria-hidden="true"><rect width="32" height="32" rx="8" ' +
  'fill="#3b5bdb"/><path d="M9 21V14a7 7 0 0 1 14 0v7M16 14v8M9 25h14" fill="none" stroke="#fff" stroke-width="2.6" ' +
  'stroke-linecap="round"/></svg>Agent Credential Gateway</header>';
