/** Shows how the gateway sends a credential to a provider. */
import { Code } from '@mantine/core';

interface AuthSettings {
  readonly authType: string;
  readonly authName: string | null;
  readonly authPrefix: string | null;
}

const KEY_PLACEHOLDER = '<API key>';

/** The header or query that is added to each request; null: none. */
function formatAuthLine({ authType, authName, authPrefix }: AuthSettings): string | null {
  switch (authType) {
    case 'bearer':
      return `authorization: Bearer ${KEY_PLACEHOLDER}`;
    case 'header':
      return `${(authName ?? '<name>').toLowerCase()}: ${authPrefix ?? ''}${KEY_PLACEHOLDER}`;
    case 'basic':
      return 'authorization: Basic base64(<user name>:<password>)';
    case 'query':
      return `?${authName ?? '<name>'}=${KEY_PLACEHOLDER}`;
    case 'path':
      return `/${KEY_PLACEHOLDER}/… in front of each path`;
    case 'sigv4':
      return 'authorization: AWS4-HMAC-SHA256 <signature of the request>';
    default:
      return null;
  }
}

export function AuthPreview(settings: AuthSettings) {
  const line = formatAuthLine(settings);
  if (line === null) return <>no credential</>;
  return <Code className="acg-break-anywhere">{line}</Code>;
}

interface RequestPreviewProps extends AuthSettings {
  readonly slug: string;
  readonly baseUrl: string;
}

/** Shows an agent's call and the request that the gateway makes from it. */
export function RequestPreview({ slug, baseUrl, ...settings }: RequestPreviewProps) {
  const line = formatAuthLine(settings);
  const isQuery = settings.authType === 'query';
  const base = baseUrl === '' ? 'https://…' : baseUrl.replace(/\/+$/, '');
  return (
    <Code block className="acg-code" aria-label="Preview">
      {`An agent calls\nGET /v1/proxy/${slug === '' ? '…' : slug}/items\n\nThe gateway sends\nGET ${base}/items${isQuery ? line : ''}`}
      {!isQuery && line !== null && `\n${line}`}
    </Code>
  );
}
