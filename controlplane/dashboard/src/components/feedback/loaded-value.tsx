/** A short value that needs a request of its own: a placeholder while it loads, and a retry button after an error. */
import { Anchor, Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { describeError } from '../../api/describe-error.js';

interface LoadedValueProps<Data> {
  readonly query: UseQueryResult<Data>;
  readonly children: (data: Data) => ReactNode;
}

export function LoadedValue<Data>({ query: { data, error, refetch }, children }: LoadedValueProps<Data>) {
  if (data !== undefined) return <>{children(data)}</>;
  if (error === null) return <Skeleton component="span" display="inline-block" h={16} w={96} />;
  return (
    <>
      {describeError(error, true).text}{' '}
      <Anchor component="button" type="button" inherit underline="always" onClick={() => void refetch()}>
        Retry
      </Anchor>
    </>
  );
}
