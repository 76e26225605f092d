/** Texts and links of the "Needs attention" items, by kind. */
import { Code } from '@mantine/core';
import type { ReactNode } from 'react';
import type { api } from '../../api/api-client.js';
import { BudgetBar } from '../../components/feedback/budget-bar.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { formatCount } from '../../format/format.js';
import { providerLabel } from '../../messages/provider-labels.js';
import { CloseBreakerButton, RevokeTokenButton } from './attention-actions.js';

type AttentionResponse = Awaited<ReturnType<typeof api.get<'/v1/attention'>>>;
export type AttentionGroup = AttentionResponse['attention'][number];
export type AttentionItem = AttentionGroup['things'][number];
type AttentionKind = AttentionGroup['kind'];

export interface AttentionMessage {
  readonly tone: 'error' | 'warning' | 'neutral';
  /** The state in a few words. */
  readonly status: string;
  readonly text: ReactNode;
  readonly about?: ReactNode;
  readonly link: {
    readonly to: string;
    readonly label: string;
    /** Added to the button's accessible name, to tell equal buttons apart. */
    readonly about?: string;
    /** It leads to a change, which viewers may not make: they get "View". */
    readonly isChange?: boolean;
  };
  /** What solves it at once. */
  readonly action?: ReactNode;
}

/** Kinds that are hints, not problems; each kind is shown in one row. */
export const HINT_KINDS: ReadonlySet<AttentionKind> = new Set(['key_unused', 'no_budget']);

/** List page of each kind. */
export const LIST_PATHS: Readonly<Record<AttentionKind, string>> = {
  sensitive_call: '/calls?state=rejected&reason=sensitive_path',
  circuit_open: '/providers?tab=circuits',
  alert_open: '/alerts',
  budget: '/agents?sort=budgetUsedPercent',
  reconnect_needed: '/providers',
  needs_credentials: '/providers?status=needs_credentials',
  webhook_failing: '/webhooks',
  key_expiring: '/keys?sort=expiresAt',
  key_unused: '/keys',
  no_budget: '/agents',
};

export const summarizeHints = (kind: AttentionKind, total: number): string =>
  kind === 'no_budget'
    ? `${formatCount(total)} agents have no budget`
    : `${formatCount(total)} gateway tokens were never used`;

const METRIC_TEXTS = { error_rate: 'the error rate', latency: 'the latency', spend: 'the spend' } as const;

const NEARLY_USED_UP = 'Budget almost used';

/** The state of a budget, and its effect on calls. */
function describeBudgetState(monthCents: number, budgetCents: number): readonly [word: string, then: string] {
  if (budgetCents === 0) return ['Budget of $0', 'every call is rejected.'];
  if (monthCents >= budgetCents) return ['Budget exceeded', 'calls are rejected until the end of the month.'];
  return [NEARLY_USED_UP, 'calls are rejected when it is exceeded.'];
}

export function attentionMessage(kind: AttentionKind, thing: AttentionItem): AttentionMessage {
  const { id, name, agentId, agentName, at, monthCents, budgetCents, providerSlug, paused } = thing;
  const { metric, circuitState, agents, origin, call, calls, clientNetwork } = thing;
  const keys = `/keys?${new URLSearchParams({ search: name })}`;
  const ofAgent = agentName === null ? null : <> of {agentName}</>;
  switch (kind) {
    case 'sensitive_call':
      return {
        tone: 'error',
        status: 'Sensitive call rejected',
        text: (
          <>
            With the gateway token <b>{name}</b>
            {ofAgent}, a client from {clientNetwork} tried <Code>{call}</Code> at {providerLabel(providerSlug ?? '')}{' '}
            <RelativeTime at={at} />. Such calls manage keys, members or billing.
            {calls !== null && calls > 1 && ` Calls like this in 7 days: ${formatCount(calls)}.`}
          </>
        ),
        link: { to: `${LIST_PATHS.sensitive_call}&agent=${agentId}`, label: 'View calls', about: name },
        action: <RevokeTokenButton id={id} name={name} />,
      };
    case 'circuit_open':
      return {
        tone: circuitState === 'HALF_OPEN' ? 'warning' : 'error',
        status: circuitState === 'HALF_OPEN' ? 'Provider recovering' : 'Provider failing',
        text: (
          <>
            Calls to <b>{name}</b>{' '}
            {circuitState === 'HALF_OPEN' ? 'are tried again' : at === null ? 'are blocked' : 'were blocked'}
            {at !== null && (
              <>
                , <RelativeTime at={at} />
              </>
            )}
            . {agents !== null && `Agents affected: ${formatCount(agents)}. `}They resume when the provider recovers.
          </>
        ),
        action: <CloseBreakerButton name={name} providerSlug={providerSlug ?? id} origin={origin} />,
        link: { to: LIST_PATHS.circuit_open, label: 'View breakers' },
      };
    case 'alert_open':
      return {
        tone: 'error',
        status: 'Alert open',
        text: (
          <>
            <b>{name}</b>: {METRIC_TEXTS[metric ?? 'error_rate']}
            {ofAgent} is above the bound of its rule, <RelativeTime at={at} />.
          </>
        ),
        link: { to: LIST_PATHS.alert_open, label: 'View alert', about: name },
      };
    case 'budget': {
      const [word, then] = describeBudgetState(monthCents ?? 0, budgetCents ?? 0);
      return {
        tone: word === NEARLY_USED_UP ? 'warning' : 'error',
        status: word,
        text: (
          <>
            <b>{name}</b>: {then}
          </>
        ),
        about: <BudgetBar spentCents={monthCents ?? 0} budgetCents={budgetCents} />,
        link: { to: `/agents/${id}?tab=limits`, label: 'Raise budget', about: name, isChange: true },
      };
    }
    case 'reconnect_needed':
      return {
        tone: 'error',
        status: 'Connection ended',
        text: (
          <>
            The grant of <b>{agentName ?? name}</b> at {providerLabel(providerSlug ?? '')} expired or was revoked. The
            gateway{' '}
            {at !== null && (
              <>
                detected this <RelativeTime at={at} />. It{' '}
              </>
            )}
            rejects calls once the current token expires.
          </>
        ),
        link: {
          to: agentId === null ? `/providers?tab=shared&credential=${id}` : `/providers/accounts/${id}`,
          label: 'Reconnect',
          about: agentName ?? name,
          isChange: true,
        },
      };
    case 'needs_credentials':
      return {
        tone: 'error',
        status: 'Credential rejected',
        text:
          agentId === null ? (
            <>
              {providerLabel(providerSlug ?? '')} rejects the shared credential <b>{name}</b>.
            </>
          ) : (
            <>
              {providerLabel(providerSlug ?? '')} rejects the credential of <b>{agentName}</b>.
            </>
          ),
        link: {
          to: agentId === null ? '/providers?tab=shared' : `/agents/${agentId}?tab=providers`,
          label: 'Enter credential',
          about: agentName ?? name,
          isChange: true,
        },
      };
    case 'webhook_failing':
      return {
        tone: paused ? 'error' : 'warning',
        status: paused ? 'Webhook paused' : 'Webhook failing',
        text: (
          <>
            Deliveries to <b>{name}</b> failed
            {at !== null && (
              <>
                , first <RelativeTime at={at} />
              </>
            )}
            {paused ? '. No events are sent until it is resumed.' : '.'}
          </>
        ),
        link: { to: `/webhooks/${id}`, label: 'View deliveries', about: name },
      };
    case 'key_expiring':
      return {
        tone: 'warning',
        status: 'Gateway token expires soon',
        text: (
          <>
            <b>{name}</b>
            {ofAgent} expires <RelativeTime at={at} />. Calls with it are rejected then.
          </>
        ),
        link: { to: keys, label: 'Rotate', about: name, isChange: true },
      };
    case 'key_unused':
      return {
        tone: 'neutral',
        status: 'Gateway token never used',
        text: (
          <>
            <b>{name}</b>
            {ofAgent} was created <RelativeTime at={at} />.
          </>
        ),
        link: { to: keys, label: 'View token', about: name },
      };
    case 'no_budget':
      return {
        tone: 'neutral',
        status: 'No budget',
        text: (
          <>
            The monthly spend of <b>{name}</b> has no limit.
          </>
        ),
        link: { to: `/agents/${id}?tab=limits`, label: 'Set budget', about: name, isChange: true },
      };
  }
}
