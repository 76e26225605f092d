/** One change for several things, each on its own: who will be changed, how it went with each, another try for the rest. */
import { Button, Group, Modal, ScrollArea, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { problemOf } from '../api/problem.js';
import { FocusBack } from './focus-back.js';
import { StatusBadge } from './status-badge.js';

/** So many requests are under way: other people's wait no longer for it. */
const AT_ONCE = 4;

interface Thing {
  readonly id: string;
  readonly name: string;
}

interface BulkDialogProps<T extends Thing> {
  readonly title: string;
  readonly things: readonly T[];
  /** What the button says, given how many there are, e.g. `Pause 3 agents`. */
  readonly action: (count: number) => string;
  readonly done: string;
  /** Why one is left out; null: it is not. */
  readonly whyNot?: (thing: T) => string | null;
  readonly now: (thing: T) => string;
  readonly act: (thing: T) => Promise<unknown>;
  /** It is over, for all. */
  readonly onDone: () => void;
  readonly onClose: () => void;
  /** What it means, and what has to be filled in. */
  readonly children: ReactNode;
  readonly ready?: boolean;
}

type Result = 'running' | 'done' | { readonly error: unknown };

export function BulkDialog<T extends Thing>({
  title,
  things,
  action,
  done,
  whyNot = () => null,
  now,
  act,
  onDone,
  onClose,
  children,
  ready = true,
}: BulkDialogProps<T>) {
  const { results, running, started, start } = useBulk(act, onDone);
  const changed = things.filter((thing) => whyNot(thing) === null);
  const failed = changed.filter(({ id }) => typeof results.get(id) === 'object');
  const left = started ? failed : changed;
  const finished = started && !running;
  const succeeded = changed.filter(({ id }) => results.get(id) === 'done').length;
  return (
    <Modal opened onClose={() => !running && onClose()} title={title} closeOnClickOutside={!running} size="lg">
      <FocusBack />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (left.length > 0) void start(left);
          else onClose();
        }}
      >
        <Stack gap="md">
          {!started && children}
          <Text size="sm" role="status" aria-live="polite" {...(started ? { fw: 600 } : { display: 'none' })}>
            {started &&
              `${succeeded} of ${changed.length} ${done}${failed.length > 0 ? `, ${failed.length} not` : ''}.`}
          </Text>
          <ScrollArea.Autosize
            mah={320}
            type="auto"
            viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'Each of them' }}
          >
            <ul className="acg-plain-list acg-lines">
              {things.map((thing) => (
                <li key={thing.id}>
                  <Text size="sm" fw={600} className="acg-break">
                    {thing.name}
                  </Text>
                  <Text size="sm" component="div" ta="right" className="acg-break">
                    <How result={results.get(thing.id)} whyNot={whyNot(thing)} now={now(thing)} done={done} />
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
            <Button type="submit" loading={running} disabled={!started && (!ready || changed.length === 0)}>
              {finished ? (failed.length === 0 ? 'Close' : `Try ${failed.length} again`) : action(changed.length)}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface HowProps {
  readonly result: Result | undefined;
  readonly whyNot: string | null;
  readonly now: string;
  readonly done: string;
}

function How({ result, whyNot, now, done }: HowProps) {
  if (whyNot !== null) return <StatusBadge tone="quiet">{whyNot}</StatusBadge>;
  if (result === undefined) return <>{now}</>;
  if (result === 'running') return <StatusBadge tone="quiet">under way</StatusBadge>;
  if (result === 'done') return <StatusBadge tone="good">{done}</StatusBadge>;
  const { text, requestId } = problemOf(result.error);
  return (
    <>
      <StatusBadge tone="bad">failed</StatusBadge>
      <Text size="xs" c="dimmed">
        {requestId === null ? text : `${text} (request ${requestId})`}
      </Text>
    </>
  );
}

function useBulk<T extends Thing>(act: (thing: T) => Promise<unknown>, onDone: () => void) {
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const one = useMutation({ mutationFn: act });
  const [running, setRunning] = useState(false);
  const start = async (things: readonly T[]): Promise<void> => {
    setRunning(true);
    const rest = [...things];
    const note = (id: string, result: Result) => setResults((before) => new Map(before).set(id, result));
    const work = async (): Promise<void> => {
      for (let thing = rest.shift(); thing !== undefined; thing = rest.shift()) {
        const { id } = thing;
        note(id, 'running');
        await one.mutateAsync(thing).then(
          () => note(id, 'done'),
          (error: unknown) => note(id, { error }),
        );
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    setRunning(false);
    onDone();
  };
  return { results, running, started: results.size > 0, start };
}
