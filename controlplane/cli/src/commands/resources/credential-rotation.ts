/** Rotation of a provider credential with overlap: options and texts that accounts and shared credentials share. */
import type { ResponseOf } from '../../api/call-api-operation.js';
import { choiceField, type Field, flagField, mapField, textField } from '../../options/field.js';
import { parseDuration } from '../../options/parse-duration.js';
import { formatCount, formatSecond } from '../../terminal/format-numbers-and-times.js';

type Rotation = NonNullable<ResponseOf<'POST /v1/credentials/{id}/rotation'>['credential']['rotation']>;

const toSeconds = (span: string): number => (span === '0' ? 0 : parseDuration(span, '--keep') / 1_000);

export const ROTATE_FIELDS = {
  testFirst: flagField('--test-first', 'test the new key, then use it; calls in flight finish with the previous one'),
  keepSeconds: mapField(
    textField('--keep <span>', 'with --test-first: how long to keep the previous key at least, or 0; 10m, if left out'),
    toSeconds,
  ),
  compromised: flagField(
    '--compromised',
    'the current credential may be leaked. Replaces it at once and aborts its calls in flight',
  ),
} as const satisfies Readonly<Record<string, Field<unknown>>>;

export const ROTATION_ACTION = choiceField('<action>', 'what to do with a rotation that --test-first began', [
  'cancel',
  'roll_back',
  'retire',
  'compromised',
]);

/** One line that says where a rotation is; `name`: of the account or credential. */
export function formatRotation(name: string, rotation: Rotation | null): string {
  if (rotation === null) return `${name}: no rotation`;
  const { state, problem, nextTestAt, callsInFlight, keepUntil, retiresBy, compromised } = rotation;
  switch (state) {
    case 'testing':
      return nextTestAt === null
        ? `${name}: the new key is stored and tested now`
        : `${name}: the new key is not in use, the next test is at ${formatSecond(nextTestAt)}. ${problem ?? ''}`.trim();
    case 'rejected':
      return `${name}: the new key is not in use. ${problem ?? ''}`.trim();
    case 'retiring': {
      const calls = callsInFlight === null ? '' : `, ${formatCount(callsInFlight)} calls in flight use it`;
      return `${name}: the new key is in use; the previous one is kept until ${formatSecond(keepUntil!)}, at most until ${formatSecond(retiresBy!)}${calls}`;
    }
    case 'retired':
      return `${name}: the new key is in use, the previous one is deleted${compromised ? ' (compromised)' : ''}. Revoke it at the provider`;
    case 'rolled_back':
      return `${name}: the previous key is in use again, the new one is deleted`;
    case 'cancelled':
      return `${name}: the rotation is cancelled. ${problem ?? ''}`.trim();
  }
}
