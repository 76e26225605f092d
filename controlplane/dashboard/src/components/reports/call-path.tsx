import type { MergedCall } from '@acg/client/schema';
import { providerLabel } from '../../messages/provider-labels.js';
import { sharedFieldsOf } from './merged-call.js';

/** Provider, method and path of a call, on one line. */
export function CallPath({ call }: { readonly call: MergedCall }) {
  const { method, path, providerSlug } = sharedFieldsOf(call);
  return (
    <span className="acg-call-path acg-one-line" title={`${method} ${path}`}>
      {providerSlug !== null && providerLabel(providerSlug)} <code className="acg-method">{method}</code> {path}
    </span>
  );
}
