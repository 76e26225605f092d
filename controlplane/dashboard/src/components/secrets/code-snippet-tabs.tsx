/** Code snippets in tabs, to copy with the token or, for shared screens, without it. */
import { Code, Group, Skeleton, Tabs } from '@mantine/core';
import { useMemo } from 'react';
import { useConfig } from '../../api/session.js';
import { useProviderSdk } from '../../resources/agent-account-and-key-hooks.js';
import { CopyButton } from '../buttons/copy-button.js';
import { codeSnippetsFor, GATEWAY_URL_PLACEHOLDER, TOKEN_PLACEHOLDER } from './code-snippets.js';

export interface CodeSnippetTabsProps {
  readonly providerSlug: string;
  /** Null: the token is no longer shown. */
  readonly token: string | null;
  /** Slug or id of the agent, if known. */
  readonly agent?: string | undefined;
  readonly onCopied?: () => void;
}

export function CodeSnippetTabs({ providerSlug, token, agent, onCopied }: CodeSnippetTabsProps) {
  const config = useConfig().data;
  const sdk = useProviderSdk(providerSlug);
  const [shown, without] = useMemo(() => {
    const gatewayUrl = config?.proxyUrl ?? GATEWAY_URL_PLACEHOLDER;
    const run = agent === undefined || config === undefined ? undefined : { agent, controlUrl: config.publicUrl };
    const source = { providerSlug, sdk: sdk ?? null, gatewayUrl, run };
    return [
      codeSnippetsFor({ ...source, token: token ?? TOKEN_PLACEHOLDER }),
      codeSnippetsFor({ ...source, token: TOKEN_PLACEHOLDER }),
    ];
  }, [agent, config, providerSlug, sdk, token]);
  if (sdk === undefined) return <Skeleton h={160} />;
  const copied = onCopied === undefined ? {} : { onCopied };
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List mb="sm" className="acg-tabs" aria-label="Languages">
        {shown.map(({ id, label }) => (
          <Tabs.Tab key={id} value={id}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shown.map(({ id, label, code }, i) => (
        <Tabs.Panel key={id} value={id}>
          <Code block className="acg-code" tabIndex={0} aria-label={label}>
            {code}
          </Code>
          <Group gap="sm" mt="sm">
            <CopyButton value={code} {...copied} />
            {token !== null && code.includes(token) && (
              <CopyButton value={without[i]?.code ?? ''} label="Copy without token" />
            )}
          </Group>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
