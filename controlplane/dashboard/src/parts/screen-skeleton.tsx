import { Skeleton, Stack } from '@mantine/core';

/** Until a screen's code is there. */
export const ScreenSkeleton = () => (
  <Stack gap="md" role="status" aria-label="Loading">
    <Skeleton h={32} w={220} />
    <Skeleton h={320} />
  </Stack>
);
