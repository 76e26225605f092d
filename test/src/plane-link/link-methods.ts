/** Every method of the plane link, from the service's own description, and its status for a given caller. */
import { grpcStatus } from '@acg/proto/control-plane-client';
import { gatewayService } from '@acg/proto/gateway-service';
import { type ChannelCredentials, Client, type Metadata, type MethodDefinition } from '@grpc/grpc-js';

type Method = MethodDefinition<object, object>;

/** Methods by name. */
export const LINK_METHODS = Object.entries(gatewayService) as unknown as readonly (readonly [string, Method])[];

/** The status of an empty call, which is cancelled after its first response. */
export function callStatus(
  method: Method,
  address: string,
  credentials: ChannelCredentials,
  metadata: Metadata,
): Promise<number> {
  const client = new Client(address, credentials);
  const options = { deadline: Date.now() + 20_000 };
  const { path, requestSerialize, responseDeserialize } = method;
  return new Promise<number>((resolve) => {
    if (method.responseStream) {
      const call = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {}, metadata, options);
      call.on('data', () => {
        resolve(grpcStatus.OK);
        call.cancel();
      });
      call.on('error', (error: Error & { code: number }) => resolve(error.code));
    } else {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, metadata, options, (error) =>
        resolve(error?.code ?? grpcStatus.OK),
      );
    }
  }).finally(() => client.close());
}

/** The handler may reject an empty call for missing fields. */
export const AUTHORIZED_STATUSES: readonly number[] = [
  grpcStatus.OK,
  grpcStatus.INVALID_ARGUMENT,
  // A report of a data plane that has no open watch.
  grpcStatus.FAILED_PRECONDITION,
];
