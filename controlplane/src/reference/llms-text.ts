/**
 * Renders `/llms.txt`: what this service is and can do, as plain Markdown for programs that read documentation before
 * they call an API.
 */
import { type ApiDocument, operationsOfTag } from './read-openapi-json.js';

export function renderLlmsText(document: ApiDocument): string {
  const { info, servers, tags, components } = document;
  const url = servers[0].url;
  const groups = tags.map(({ name, description }) => {
    const calls = operationsOfTag(document, name).map(
      ({ method, path, operation }) => `- ${method} ${path} (${operation.operationId}): ${operation.summary}`,
    );
    return `## ${name}\n\n${description}\n\n${calls.join('\n')}\n`;
  });
  const schemes = Object.values(components.securitySchemes).map(({ description }) => `- ${description}`);
  return `# ${info.title}

> ${info.summary}

${info.description}

- Base address: ${url}
- Every operation with its fields, types and errors: ${url}/v1/openapi.json (OpenAPI 3.1), ${url}/docs (HTML)
- Where agents call providers: \`proxyUrl\` of ${url}/v1/config; what an agent's own token may do: \`/v1/self\` there

## Who calls

${schemes.join('\n')}

${groups.join('\n')}
## Events

${Object.entries(document.webhooks)
  .map(([event, { post }]) => `- ${event}: ${post.summary}`)
  .join('\n')}
`;
}
