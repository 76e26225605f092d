/** How a new credential replaces the current one. */
import { NativeSelect, Radio, Stack } from '@mantine/core';
import type { RotationOptions } from '../../resources/provider-account-mutations.js';

const TEN_MINUTES_S = 600;

type Way = 'overlap' | 'replace' | 'compromised';

interface RotationChoice {
  readonly way: Way;
  readonly keepSeconds: number;
}

export const startingChoice = (allowsOverlap: boolean): RotationChoice => ({
  way: allowsOverlap ? 'overlap' : 'replace',
  keepSeconds: TEN_MINUTES_S,
});

/** As the API takes them. */
export function toRotationOptions({ way, keepSeconds }: RotationChoice): RotationOptions {
  if (way === 'overlap') return { testFirst: true, keepSeconds };
  return way === 'compromised' ? { compromised: true } : {};
}

interface RotationOptionFieldsProps {
  readonly allowsOverlap: boolean;
  readonly value: RotationChoice;
  readonly onChange: (value: RotationChoice) => void;
}

export const RotationOptionFields = ({ allowsOverlap, value, onChange }: RotationOptionFieldsProps) => (
  <>
    <Radio.Group label="Replacement" value={value.way} onChange={(way) => onChange({ ...value, way: way as Way })}>
      <Stack gap="xs" mt="xs">
        {allowsOverlap && (
          <Radio
            value="overlap"
            label="Test first, with overlap"
            description="The gateway tests the new credential. Then new calls carry it, and calls in flight finish with the current one. You can roll back."
          />
        )}
        <Radio
          value="replace"
          label="Replace at once"
          description="The current credential is deleted from the gateway. Revoke it at the provider, too."
        />
        <Radio
          value="compromised"
          label="Replace at once, the current one is compromised"
          description="Also aborts the calls in flight with the current credential."
        />
      </Stack>
    </Radio.Group>
    {value.way === 'overlap' && (
      <NativeSelect
        label="Keep the current credential for at least"
        description="The gateway deletes it afterwards, once no call uses it."
        data={[
          { value: '0', label: 'Only while calls use it' },
          { value: '600', label: '10 minutes' },
          { value: '3600', label: '1 hour' },
          { value: '86400', label: '1 day' },
          { value: '604800', label: '7 days' },
        ]}
        value={String(value.keepSeconds)}
        onChange={(event) => onChange({ ...value, keepSeconds: Number(event.currentTarget.value) })}
      />
    )}
  </>
);
