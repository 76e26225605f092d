/**
 * A vendor's API for its own SDK: a table of calls. It accepts a request only with the exact credential and without a
 * gateway token anywhere, so that every answered call shows that the gateway replaced the token.
 */
import { type ReceivedRequest, StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import { jsonResponse, type StandInResponse } from '@acg/stand-in-provider/stand-in-response';

type Respond = (request: ReceivedRequest, origin: string) => StandInResponse;

interface VendorApi {
  /** Answers by `METHOD /path`, as the SDK writes the path. */
  readonly calls: Readonly<Record<string, Respond>>;
  isAuthorized(request: ReceivedRequest): boolean;
  /** The vendor's answer to an unknown object. */
  readonly notFound: StandInResponse;
}

export class VendorStandIn extends StandInProvider {
  readonly #api: VendorApi;

  constructor(api: VendorApi) {
    super();
    this.#api = api;
  }

  /** The same API with other credentials, or other calls. */
  variant(changes: Partial<VendorApi>): VendorStandIn {
    return new VendorStandIn({ ...this.#api, ...changes });
  }

  protected override respond(request: ReceivedRequest): StandInResponse {
    const everything = `${request.target} ${request.rawHeaders.join(' ')} ${request.body.toString('latin1')}`;
    if (/acg_[0-9a-f]/.test(everything)) return jsonResponse(400, { message: 'a gateway token arrived' });
    if (!this.#api.isAuthorized(request)) return jsonResponse(401, { message: 'wrong credential' });
    const respond = this.#api.calls[`${request.method} ${request.path}`];
    return respond === undefined ? this.#api.notFound : respond(request, this.origin);
  }
}

/** The request has this header and none of the others that can carry a key. */
export const hasOnlyCredential = (header: string, value: string) => {
  const others = ['authorization', 'x-api-key', 'api-key', 'apikey', 'x-goog-api-key'].filter(
    (name) => name !== header,
  );
  return ({ headers }: ReceivedRequest): boolean =>
    headers[header] === value && others.every((name) => headers[name] === undefined);
};

export const parseJsonBody = ({ body }: ReceivedRequest): Record<string, unknown> =>
  JSON.parse(body.toString('utf8')) as Record<string, unknown>;
