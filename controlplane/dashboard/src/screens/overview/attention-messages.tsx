/** What each kind of thing that needs somebody is called, what it says, and where it is mended. */
import type { ReactNode } from 'react';
import type { api } from '../../api/api-client.js';
import { BudgetBar } from '../../components/feedback/budget-bar.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { formatCount } from '../../format/format.js';

type AttentionResponse = Awaited<ReturnType<typeof api.get<'/v1/attention'>>>;
export type AttentionGroup = AttentionResponse['attention'][number];
export type AttentionItem = AttentionGroup['things'][number];
type AttentionKind = AttentionGroup['kind'];

export interface AttentionMessage {
  readonly tone: 'bad' | 'warn' | 'quiet';
  /** The state in a word or two. */
  readonly status: string;
  readonly text: ReactNode;
  readonly about?: ReactNode;
  readonly link: {
    readonly to: string;
    readonly label: string;
    /** Tells many alike apart for those who only hear them. */
    readonly about?: string;
  };
}

/** Nothing is broken: they are told in one line. */
export const HINT_KINDS: ReadonlySet<AttentionKind> = new Set(['key_unused', 'no_budget']);

/** Where all of a kind are. */
export const LIST_PATHS: Readonly<Record<AttentionKind, string>> = {
  circuit_open: '/providers?tab=circuits',
  budget: '/agents?sort=budgetUsedPercent',
  needs_credentials: '/providers?status=needs_credentials',
  webhook_failing: '/webhooks',
  key_expiring: '/keys?sort=expiresAt',
  key_unused: '/keys',
  no_budget: '/agents',
};

export const summarizeHints = (kind: AttentionKind, total: number): string =>
  kind === 'no_budget' ? `${formatCount(total)} agents have no budget` : `${formatCount(total)} keys were never used`;

const NEARLY_USED_UP = 'Budget nearly used up';

/** The state of a budget, and what it means for calls. */
function describeBudgetState(monthCents: number, budgetCents: number): readonly [word: string, then: string] {
  if (budgetCents === 0) return ['Budget of $0', 'every call is refused.'];
  if (monthCents >= budgetCents) return ['Budget used up', 'calls are refused until the month is over.'];
  return [NEARLY_USED_UP, 'calls are refused once it is used up.'];
}

export function attentionMessage(kind: AttentionKind, thing: AttentionItem): AttentionMessage {
  const { id, name, agentId, agentName, at, monthCents, budgetCents, providerSlug, paused } = thing;
  const keys = `/keys?${new URLSearchParams({ search: name })}`;
  const ofAgent = agentName === null ? null : <> of {agentName}</>;
  switch (kind) {
    case 'circuit_open':
      return {
        tone: 'bad',
        status: 'Provider failing',
        text: (
          <>
            Calls to <b>{name}</b>{' '}
            {at === null ? (
              'are stopped'
            ) : (
              <>
                were stopped <RelativeTime at={at} />
              </>
            )}
            ; they go on by themselves when it answers again.
          </>
        ),
        link: { to: LIST_PATHS.circuit_open, label: 'See circuits' },
      };
    case 'budget': {
      const [word, then] = describeBudgetState(monthCents ?? 0, budgetCents ?? 0);
      return {
        tone: word === NEARLY_USED_UP ? 'warn' : 'bad',
        status: word,
        text: (
          <>
            <b>{name}</b>: {then}
          </>
        ),
        about: <BudgetBar spentCents={monthCents ?? 0} budgetCents={budgetCents} />,
        link: { to: `/agents/${id}?tab=limits`, label: 'Raise budget', about: name },
      };
    }
    case 'needs_credentials':
      return {
        tone: 'bad',
        status: 'Credential refused',
        text:
          agentId === null ? (
            <>
              {providerSlug} does not take the shared credential <b>{name}</b> any more.
            </>
          ) : (
            <>
              {providerSlug} does not take the credential of <b>{agentName}</b> any more.
            </>
          ),
        link: {
          to: agentId === null ? '/providers?tab=shared' : `/agents/${agentId}?tab=providers`,
          label: 'Enter it again',
          about: agentName ?? name,
        },
      };
    case 'webhook_failing':
      return {
        tone: paused ? 'bad' : 'warn',
        status: paused ? 'Webhook paused' : 'Webhook failing',
        text: (
          <>
            Deliveries to <b>{name}</b> fail
            {at !== null && (
              <>
                , the first one <RelativeTime at={at} />
              </>
            )}
            {paused ? '; it gets nothing until somebody resumes it.' : '.'}
          </>
        ),
        link: { to: `/webhooks/${id}`, label: 'See deliveries', about: name },
      };
    case 'key_expiring':
      return {
        tone: 'warn',
        status: 'Key ends soon',
        text: (
          <>
            <b>{name}</b>
            {ofAgent} ends <RelativeTime at={at} />; calls with it are refused then.
          </>
        ),
        link: { to: keys, label: 'Rotate it', about: name },
      };
    case 'key_unused':
      return {
        tone: 'quiet',
        status: 'Key never used',
        text: (
          <>
            <b>{name}</b>
            {ofAgent} was made <RelativeTime at={at} />.
          </>
        ),
        link: { to: keys, label: 'See the key', about: name },
      };
    case 'no_budget':
      return {
        tone: 'quiet',
        status: 'No budget',
        text: (
          <>
            Nothing limits what <b>{name}</b> spends in a month.
          </>
        ),
        link: { to: `/agents/${id}?tab=limits`, label: 'Set a budget', about: name },
      };
  }
}
