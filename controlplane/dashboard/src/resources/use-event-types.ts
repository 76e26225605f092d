/** The types of events, from the API. They change only with a release, so they are fetched once per page load. */

import { api } from '../api/api-client.js';
import { useQuery } from '../api/use-query.js';

type EventType = Awaited<ReturnType<typeof fetchEventTypes>>[number];
export type EventName = EventType['event'];

const fetchEventTypes = async () => (await api.get('/v1/events/types')).types;

/** Without the types, `types` is empty and an event has its name as title. If they cannot be loaded, every event is an alert. */
export function useEventTypes() {
  const { data: types = [], isError } = useQuery({
    queryKey: ['event-types'],
    queryFn: fetchEventTypes,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const find = (event: EventName): EventType | undefined => types.find((type) => type.event === event);
  return {
    types,
    titleOf: (event: EventName): string => find(event)?.title ?? event,
    /** Whether the event is an alert, not a routine change by the users themselves. */
    needsAttention: (event: EventName): boolean => {
      const type = find(event);
      return type === undefined ? isError : type.severity !== 'info';
    },
  };
}
