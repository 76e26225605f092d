/** A row of the list that holds forwarded and rejected calls. */
import type { MergedCall } from '@acg/client/schema';

export type ForwardedCall = NonNullable<MergedCall['forwarded']>;
export type RejectedCall = NonNullable<MergedCall['rejected']>;

/** The fields that both kinds have. */
export const sharedFieldsOf = ({ forwarded, rejected }: MergedCall): ForwardedCall | RejectedCall =>
  (forwarded ?? rejected)!;
