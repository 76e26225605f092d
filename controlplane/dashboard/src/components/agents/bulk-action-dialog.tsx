/**
 * Applies one change to several items, each with its own request. Shows the result of each item and retries the failed
 * ones.
 */
import { Button, Group, Modal, ScrollArea, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { describeError } from '../../api/describe-error.js';
import { StatusBadge } from '../feedback/status-badge.js';
import { RestoreFocusOnClose } from '../focus/restore-focus-on-close.js';

/** Concurrent requests of one bulk run; bounded so that other users' requests do not wait. */
const CONCURRENCY = 4;

interface BulkItem {
  readonly id: string;
  readonly name: string;
}

interface BulkActionDialogProps<T extends BulkItem> {
  readonly title: string;
  readonly items: readonly T[];
  /** Label of the button for a number of items, e.g. `Pause 3 agents`. */
  readonly action: (count: number) => string;
  readonly doneLabel: string;
  /** Why an item is skipped; null: it is not skipped. */
  readonly skipReason?: (item: T) => string | null;
  readonly currentState: (item: T) => string;
  readonly run: (item: T) => Promise<unknown>;
  /** Called when the run has finished for all items. */
  readonly onDone: () => void;
  readonly onClose: () => void;
  /** Explains the change and holds its inputs. */
  readonly children: ReactNode;
  readonly isValid?: boolean;
}

type BulkResult = 'running' | 'done' | { readonly error: unknown };

export function BulkActionDialog<T extends BulkItem>({
  title,
  items,
  action,
  doneLabel,
  skipReason = () => null,
  currentState,
  run,
  onDone,
  onClose,
  children,
  isValid = true,
}: BulkActionDialogProps<T>) {
  const { results, running, started, start } = useBulkRun(run, onDone);
  const changed = items.filter((item) => skipReason(item) === null);
  const failed = changed.filter(({ id }) => typeof results.get(id) === 'object');
  const remaining = started ? failed : changed;
  const finished = started && !running;
  const succeeded = changed.filter(({ id }) => results.get(id) === 'done').length;
  return (
    <Modal opened onClose={() => !running && onClose()} title={title} closeOnClickOutside={!running} size="lg">
      <RestoreFocusOnClose />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (remaining.length > 0) void start(remaining);
          else onClose();
        }}
      >
        <Stack gap="md">
          {!started && children}
          <Text size="sm" role="status" aria-live="polite" {...(started ? { fw: 600 } : { display: 'none' })}>
            {started &&
              `${succeeded} of ${changed.length} ${doneLabel}${failed.length > 0 ? `, ${failed.length} failed` : ''}.`}
          </Text>
          <ScrollArea.Autosize
            mah={320}
            type="auto"
            viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'Results' }}
          >
            <ul className="acg-plain-list acg-result-list">
              {items.map((item) => (
                <li key={item.id}>
                  <Text size="sm" fw={600} className="acg-break-anywhere">
                    {item.name}
                  </Text>
                  <Text size="sm" component="div" ta="right" className="acg-break-anywhere">
                    <ItemResult
                      result={results.get(item.id)}
                      skipReason={skipReason(item)}
                      currentState={currentState(item)}
                      doneLabel={doneLabel}
                    />
                  </Text>
                </li>
              ))}
            </ul>
          </ScrollArea.Autosize>
          <Group justify="flex-end" gap="sm">
            {!(finished && failed.length === 0) && (
              <Button variant="default" onClick={onClose} disabled={running}>
                {finished ? 'Close' : 'Cancel'}
              </Button>
            )}
            <Button type="submit" loading={running} disabled={!started && (!isValid || changed.length === 0)}>
              {finished ? (failed.length === 0 ? 'Close' : `Retry ${failed.length}`) : action(changed.length)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface ItemResultProps {
  readonly result: BulkResult | undefined;
  readonly skipReason: string | null;
  readonly currentState: string;
  readonly doneLabel: string;
}

function ItemResult({ result, skipReason, currentState, doneLabel }: ItemResultProps) {
  if (skipReason !== null) return <StatusBadge tone="neutral">{skipReason}</StatusBadge>;
  if (result === undefined) return <>{currentState}</>;
  if (result === 'running') return <StatusBadge tone="neutral">in progress</StatusBadge>;
  if (result === 'done') return <StatusBadge tone="success">{doneLabel}</StatusBadge>;
  const { text, requestId } = describeError(result.error);
  return (
    <>
      <StatusBadge tone="error">failed</StatusBadge>
      <Text size="xs" c="dimmed">
        {requestId === null ? text : `${text} (request ${requestId})`}
      </Text>
    </>
  );
}

function useBulkRun<T extends BulkItem>(run: (item: T) => Promise<unknown>, onDone: () => void) {
  const [results, setResults] = useState<ReadonlyMap<string, BulkResult>>(new Map());
  const runMutation = useMutation({ mutationFn: run });
  const [running, setRunning] = useState(false);
  const start = async (items: readonly T[]): Promise<void> => {
    setRunning(true);
    const queue = [...items];
    const setResult = (id: string, result: BulkResult) => setResults((before) => new Map(before).set(id, result));
    const runNext = async (): Promise<void> => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
        const { id } = item;
        setResult(id, 'running');
        await runMutation.mutateAsync(item).then(
          () => setResult(id, 'done'),
          (error: unknown) => setResult(id, { error }),
        );
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, runNext));
    setRunning(false);
    onDone();
  };
  return { results, running, started: results.size > 0, start };
}
