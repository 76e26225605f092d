/**
 * A write that is asked for twice before its first answer is here, by a double click or a key that is held down, is sent
 * once; both get that answer. A button that shows that it works comes a moment too late for the second of two clicks, and
 * a second token would be one that nobody has seen and everybody could have used.
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
