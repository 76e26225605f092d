/**
 * Renders the API reference as one HTML page without scripts or external resources. The browser's search finds
 * everything in it.
 */
import { cspSourceHash, escapeHtml } from '../http/html-escape-and-csp-hash.js';
import { buildCommands } from './curl-and-acg-commands.js';
import {
  type ApiDocument,
  type ApiOperation,
  type Content,
  exampleOf,
  nameOfRef,
  type Operation,
  operationsOfTag,
} from './read-openapi-json.js';
import { renderCode, renderFieldRow, renderFieldRows, renderTable, renderText, renderType } from './render-types.js';

const STYLE = `
:root{color-scheme:light dark;font:15px/1.55 system-ui,sans-serif;--line:#8884;--soft:#8881;--mark:#2563eb}
@media(prefers-color-scheme:dark){:root{--mark:#8ab4f8}}
*{box-sizing:border-box}
body{margin:0;display:grid;grid-template-columns:17rem minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow-y:auto;padding:1.25rem 1rem;border-right:1px solid var(--line);font-size:.85rem}
nav ul{list-style:none;margin:.2rem 0 .9rem;padding:0}
nav li{margin:.15rem 0}
nav strong{display:block}
main{padding:1.5rem 2rem 6rem;max-width:62rem}
a{color:var(--mark);text-decoration:none}
a:hover{text-decoration:underline}
h1{margin:0}
h2{margin:3.5rem 0 .3rem;padding-top:1rem;border-top:2px solid var(--line)}
h3{margin:2.2rem 0 .2rem;scroll-margin-top:1rem}
h3 a{color:inherit}
h4{margin:1rem 0 .2rem;font-size:.9rem}
:target{background:var(--soft);outline:.4rem solid var(--soft)}
code,pre{font:.9em/1.5 ui-monospace,monospace}
pre{background:var(--soft);padding:.8rem;overflow-x:auto;border-radius:4px}
.command{white-space:pre-wrap;overflow-wrap:anywhere;user-select:all;-webkit-user-select:all}
.call{overflow-wrap:anywhere}
.call b{display:inline-block;min-width:4.2em}
table{border-collapse:collapse;width:100%;font-size:.9rem}
td{border-top:1px solid var(--line);padding:.35rem .8rem .35rem 0;vertical-align:top;overflow-wrap:anywhere}
td:first-child{width:32%}td:nth-child(2){width:26%}
small{opacity:.75}
summary{cursor:pointer;color:var(--mark);font-size:.9rem}
@media(max-width:800px){body{display:block}nav{position:static;height:auto;max-height:40vh;border:0;border-bottom:1px solid var(--line)}main{padding:1rem}}
`;

/** Blocks every script; allows the one style by its digest. */
export const REFERENCE_CSP = `default-src 'none'; style-src ${cspSourceHash(STYLE)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function renderReferencePage(document: ApiDocument): string {
  const { info, servers, tags, components } = document;
  const sections = tags.map(({ name, description }) => {
    const calls = operationsOfTag(document, name).map((call) => callHtml(document, call));
    return `<h2 id="${anchor(name)}">${escapeHtml(name)}</h2><p>${renderText(description)}</p>${calls.join('')}`;
  });
  const types = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<h3 id="type-${name}"><a href="#type-${name}">${name}</a></h3>${
        schema.properties === undefined ? `<p>${renderType(schema)}</p>` : renderTable(renderFieldRows(schema))
      }`,
  );
  const schemes = Object.entries(components.securitySchemes).map(
    ([name, { description }]) => `<tr><td>${renderCode(name)}<td>${renderText(description)}`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)}: API</title>
<style>${STYLE}</style>
<nav aria-label="Operations">${navigation(document)}</nav>
<main>
<h1>${escapeHtml(info.title)}: API</h1>
<p>${escapeHtml(info.summary)} Version ${escapeHtml(info.version)}.</p>
<p>${renderText(info.description)}</p>
<p>A click on a command of “Call it” selects all of it, to copy. Names after <code>$</code> are yours to set.</p>
<p>Base address: ${renderCode(servers[0].url)}. As data: <a href="v1/openapi.json">openapi.json</a> (OpenAPI 3.1),
<a href="llms.txt">llms.txt</a>.</p>
<h4>Who calls</h4>
${renderTable(schemes.join(''))}
${sections.join('\n')}
<h2 id="webhook-events">Webhook events</h2><p>What is sent to the endpoints of webhooks.</p>
${Object.entries(document.webhooks)
  .map(([event, { post }]) => operationHtml(document, `<p class="call"><b>POST</b> ${renderCode(event)}</p>`, post))
  .join('\n')}
<h2 id="types">Types</h2><p>A field with <b>*</b> is always there, or must be given.</p>
${types.join('\n')}
</main>
</html>
`;
}

const anchor = (tag: string): string => tag.toLowerCase().replaceAll(' ', '-');

const link = ({ operationId, summary }: Operation): string =>
  `<li><a href="#${operationId}">${escapeHtml(summary)}</a>`;

function navigation(document: ApiDocument): string {
  const groups = document.tags.map(
    ({ name }) =>
      `<strong><a href="#${anchor(name)}">${escapeHtml(name)}</a></strong><ul>${operationsOfTag(document, name)
        .map(({ operation }) => link(operation))
        .join('')}</ul>`,
  );
  const events = Object.values(document.webhooks).map(({ post }) => link(post));
  return `${groups.join('')}<strong><a href="#webhook-events">Webhook events</a></strong><ul>${events.join('')}</ul>
<strong><a href="#types">Types</a></strong>`;
}

function callHtml(document: ApiDocument, call: ApiOperation): string {
  const { method, path, operation } = call;
  const { curl, acg } = buildCommands(document, call);
  return `${operationHtml(document, `<p class="call"><b>${method}</b> ${renderCode(path)}</p>`, operation)}
<details><summary>Call it</summary><pre class="command">${escapeHtml(curl)}</pre><pre class="command">${escapeHtml(acg)}</pre></details>
`;
}

function operationHtml(document: ApiDocument, head: string, operation: Operation): string {
  const { operationId, summary, description, requestBody, responses } = operation;
  const parameters = (operation.parameters ?? []).map((parameter) =>
    parameter.$ref === undefined ? parameter : document.components.parameters[nameOfRef(parameter.$ref)]!,
  );
  const rows = parameters.map(({ name, in: place, required, description: text, schema }) =>
    renderFieldRow(name, text === undefined ? schema : { ...schema, description: text }, required, place),
  );
  const answers = Object.entries(responses).map(([status, { $ref, description: text = '', content }]) => {
    const types = Object.entries(content ?? {}).map(([type, { schema }]) =>
      type === 'application/json' ? renderType(schema) : escapeHtml(type),
    );
    return $ref === undefined ? `<tr><td>${status}<td>${types.join(', ')}<td>${renderText(text)}` : status;
  });
  const success = Object.values(responses).find(({ content }) => content !== undefined)?.content?.['application/json'];
  const own = answers.filter((answer) => answer.startsWith('<'));
  const errors = answers.filter((answer) => !answer.startsWith('<'));
  return `<h3 id="${operationId}"><a href="#${operationId}">${escapeHtml(summary)}</a></h3>
${head}<p>${renderCode(operationId)}${description === undefined ? '' : `: ${renderText(description)}`}</p>
${rows.length === 0 ? '' : `<h4>Parameters</h4>${renderTable(rows.join(''))}`}
${requestBody === undefined ? '' : bodyHtml(document, requestBody.content['application/json']!)}
<h4>Answers</h4>${renderTable(own.join(''))}${errors.length === 0 ? '' : `<small>Errors: ${errors.join(', ')}</small>`}
${exampleHtml(document, success)}
`;
}

function bodyHtml(document: ApiDocument, content: Content): string {
  const schema = document.components.schemas[nameOfRef(content.schema.$ref ?? '')];
  const fields = schema === undefined ? '' : renderTable(renderFieldRows(schema));
  return `<h4>Body: ${renderType(content.schema)}</h4>${fields}${exampleHtml(document, content)}`;
}

function exampleHtml(document: ApiDocument, content: Content | undefined): string {
  const value = exampleOf(document, content);
  return value === undefined
    ? ''
    : `<details><summary>Example</summary><pre>${escapeHtml(JSON.stringify(value, null, 2))}</pre></details>`;
}
