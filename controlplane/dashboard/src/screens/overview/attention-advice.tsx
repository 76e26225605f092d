/** What each kind of thing that needs somebody is called, what it says, and where it is mended. */
import type { ReactNode } from 'react';
import type { api } from '../../api/api.js';
import { count } from '../../format/format.js';
import { Ago } from '../../parts/ago.js';
import { BudgetBar } from '../../parts/budget-bar.js';

type Reply = Awaited<ReturnType<typeof api.get<'/v1/attention'>>>;
export type Attention = Reply['attention'][number];
export type Thing = Attention['things'][number];
type Kind = Attention['kind'];

export interface Advice {
  readonly tone: 'bad' | 'warn' | 'quiet';
  /** The state in a word or two. */
  readonly word: string;
  readonly what: ReactNode;
  readonly about?: ReactNode;
  readonly way: {
    readonly to: string;
    readonly label: string;
    /** Tells many alike apart for those who only hear them. */
    readonly about?: string;
  };
}

/** Nothing is broken: they are told in one line. */
export const HINTS: ReadonlySet<Kind> = new Set(['key_unused', 'no_budget']);

/** Where all of a kind are. */
export const LISTS: Readonly<Record<Kind, string>> = {
  circuit_open: '/providers?tab=circuits',
  budget: '/agents?sort=budgetUsedPercent',
  needs_credentials: '/providers?status=needs_credentials',
  webhook_failing: '/webhooks',
  key_expiring: '/keys?sort=expiresAt',
  key_unused: '/keys',
  no_budget: '/agents',
};

export const sumUp = (kind: Kind, total: number): string =>
  kind === 'no_budget' ? `${count(total)} agents have no budget` : `${count(total)} keys were never used`;

const NEARLY = 'Budget nearly used up';

/** The state of a budget, and what it means for calls. */
function budgetState(monthCents: number, budgetCents: number): readonly [word: string, then: string] {
  if (budgetCents === 0) return ['Budget of $0', 'every call is refused.'];
  if (monthCents >= budgetCents) return ['Budget used up', 'calls are refused until the month is over.'];
  return [NEARLY, 'calls are refused once it is used up.'];
}

export function adviceOf(kind: Kind, thing: Thing): Advice {
  const { id, name, agentId, agentName, at, monthCents, budgetCents, providerSlug, paused } = thing;
  const keys = `/keys?${new URLSearchParams({ search: name })}`;
  const ofAgent = agentName === null ? null : <> of {agentName}</>;
  switch (kind) {
    case 'circuit_open':
      return {
        tone: 'bad',
        word: 'Provider failing',
        what: (
          <>
            Calls to <b>{name}</b>{' '}
            {at === null ? (
              'are stopped'
            ) : (
              <>
                were stopped <Ago at={at} />
              </>
            )}
            ; they go on by themselves when it answers again.
          </>
        ),
        way: { to: LISTS.circuit_open, label: 'See circuits' },
      };
    case 'budget': {
      const [word, then] = budgetState(monthCents ?? 0, budgetCents ?? 0);
      return {
        tone: word === NEARLY ? 'warn' : 'bad',
        word,
        what: (
          <>
            <b>{name}</b>: {then}
          </>
        ),
        about: <BudgetBar spentCents={monthCents ?? 0} budgetCents={budgetCents} />,
        way: { to: `/agents/${id}?tab=limits`, label: 'Raise budget', about: name },
      };
    }
    case 'needs_credentials':
      return {
        tone: 'bad',
        word: 'Credential refused',
        what:
          agentId === null ? (
            <>
              {providerSlug} does not take the shared credential <b>{name}</b> any more.
            </>
          ) : (
            <>
              {providerSlug} does not take the credential of <b>{agentName}</b> any more.
            </>
          ),
        way: {
          to: agentId === null ? '/providers?tab=shared' : `/agents/${agentId}?tab=providers`,
          label: 'Enter it again',
          about: agentName ?? name,
        },
      };
    case 'webhook_failing':
      return {
        tone: paused ? 'bad' : 'warn',
        word: paused ? 'Webhook paused' : 'Webhook failing',
        what: (
          <>
            Deliveries to <b>{name}</b> fail
            {at !== null && (
              <>
                , the first one <Ago at={at} />
              </>
            )}
            {paused ? '; it gets nothing until somebody resumes it.' : '.'}
          </>
        ),
        way: { to: `/webhooks/${id}`, label: 'See deliveries', about: name },
      };
    case 'key_expiring':
      return {
        tone: 'warn',
        word: 'Key ends soon',
        what: (
          <>
            <b>{name}</b>
            {ofAgent} ends <Ago at={at} />; calls with it are refused then.
          </>
        ),
        way: { to: keys, label: 'Rotate it', about: name },
      };
    case 'key_unused':
      return {
        tone: 'quiet',
        word: 'Key never used',
        what: (
          <>
            <b>{name}</b>
            {ofAgent} was made <Ago at={at} />.
          </>
        ),
        way: { to: keys, label: 'See the key', about: name },
      };
    case 'no_budget':
      return {
        tone: 'quiet',
        word: 'No budget',
        what: (
          <>
            Nothing limits what <b>{name}</b> spends in a month.
          </>
        ),
        way: { to: `/agents/${id}?tab=limits`, label: 'Set a budget', about: name },
      };
  }
}
