/**
 * Sends identical concurrent writes once: the same method, address and body before the first response has arrived, e.g.
 * from a double click or a held key. All callers get the same response. A button's loading state appears too late to
 * block the second click, and a second token would be valid without anyone having seen it.
 */
type Fetch = (request: Request) => Promise<Response>;

export function deduplicateWrites(send: Fetch): Fetch {
  const inflight = new Map<string, Promise<Response>>();
  return async (request) => {
    const body = await request.text();
    const requestKey = `${request.method} ${request.url} ${body}`;
    let response = inflight.get(requestKey);
    if (response === undefined) {
      response = send(body === '' ? request : new Request(request, { body })).finally(() =>
        inflight.delete(requestKey),
      );
      inflight.set(requestKey, response);
    }
    return (await response).clone();
  };
}
