/** Snippets one beside the other, to copy with the token or, for screens that are shared, without. */
import { Code, Group, Tabs } from '@mantine/core';
import { useMemo } from 'react';
import { useConfig } from '../api/session.js';
import { CopyButton } from './copy-button.js';
import { GATEWAY_PLACE, snippetsFor, TOKEN_PLACE } from './snippets.js';

interface SnippetTabsProps {
  readonly providerSlug: string;
  /** Null: it is not shown any more. */
  readonly token: string | null;
  readonly onCopied?: () => void;
}

export function SnippetTabs({ providerSlug, token, onCopied }: SnippetTabsProps) {
  const gatewayUrl = useConfig().data?.proxyUrl ?? GATEWAY_PLACE;
  const shown = useMemo(
    () => snippetsFor({ providerSlug, gatewayUrl, token: token ?? TOKEN_PLACE }),
    [providerSlug, gatewayUrl, token],
  );
  const without = useMemo(
    () => snippetsFor({ providerSlug, gatewayUrl, token: TOKEN_PLACE }),
    [providerSlug, gatewayUrl],
  );
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
            {token !== null && id !== 'prompt' && (
              <CopyButton value={without[i]?.code ?? ''} label="Copy without token" />
            )}
          </Group>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
