import type { MergedCall } from '@acg/client/schema';
import { Code, Text } from '@mantine/core';
import { providerLabel } from '../../messages/provider-labels.js';
import { sharedFieldsOf } from './merged-call.js';

/** Provider, method and path of a call, on one line. */
export function CallPath({ call }: { readonly call: MergedCall }) {
  const { method, path, providerSlug } = sharedFieldsOf(call);
  return (
    <Text size="sm" span className="acg-call-path acg-one-line" title={`${method} ${path}`}>
      {providerSlug !== null && providerLabel(providerSlug)} <Code>{method}</Code> {path}
    </Text>
  );
}
