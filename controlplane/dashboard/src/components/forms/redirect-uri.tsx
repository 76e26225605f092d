/** The redirect URI that a person registers with the OAuth app of a connected account, and who owns that app. */
import { Text } from '@mantine/core';
import { useConfig, useMe } from '../../api/session.js';
import { InlineCopy } from '../buttons/inline-copy.js';

interface RedirectUriProps {
  readonly provider: { readonly slug: string; readonly builtIn: boolean };
  /** The organization must register the OAuth app; false: the gateway registers itself, unless a client is entered. */
  readonly isOwnApp: boolean;
}

export function RedirectUri({ provider, isOwnApp }: RedirectUriProps) {
  const publicUrl = useConfig().data?.publicUrl.replace(/\/+$/, '');
  const orgId = useMe().data?.orgId ?? '';
  const uri = `${publicUrl ?? ''}/connect/${provider.builtIn ? 'gateway' : orgId}/${provider.slug}/callback`;
  if (!isOwnApp)
    return (
      <Text size="sm" c="dimmed" component="div" className="acg-break-anywhere">
        The gateway registers its own OAuth app with this server. You do not need to create one. An app of your own
        needs the redirect URI <RedirectUriValue uri={publicUrl === undefined ? null : uri} />
      </Text>
    );
  return (
    <Text size="sm" c="dimmed" component="div" className="acg-break-anywhere">
      OAuth app: your own, registered at the provider with this redirect URI:{' '}
      <RedirectUriValue uri={publicUrl === undefined ? null : uri} />
    </Text>
  );
}

const RedirectUriValue = ({ uri }: { readonly uri: string | null }) =>
  uri === null ? '…' : <InlineCopy value={uri} what="redirect URI" />;
