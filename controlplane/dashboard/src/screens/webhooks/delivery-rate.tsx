/** How many of the newest deliveries of an endpoint failed, as a bar and in words. */
import { Progress, Text } from '@mantine/core';
import { formatCount } from '../../format/format.js';
import type { Endpoint } from './fetch-webhooks-retry-deliveries.js';

export function DeliveryRate({ recent: { delivered, failed } }: Pick<Endpoint, 'recent'>) {
  const all = delivered + failed;
  if (all === 0) return 'none yet';
  return (
    <div>
      <Text size="sm" span>
        {failed === 0 ? `all ${formatCount(all)} delivered` : `${formatCount(failed)} of ${formatCount(all)} failed`}
      </Text>
      <Progress.Root size="sm" w={140} aria-hidden>
        <Progress.Section value={(delivered / all) * 100} color="gray" />
        <Progress.Section value={(failed / all) * 100} color="red" />
      </Progress.Root>
    </div>
  );
}
