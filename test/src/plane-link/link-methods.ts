/** Every call of the internal link, from the service's own description, and how it ends for a given caller. */
import { grpcStatus } from '@acg/proto/control-plane-client';
import { gatewayService } from '@acg/proto/gateway-service';
import { type ChannelCredentials, Client, type Metadata, type MethodDefinition } from '@grpc/grpc-js';

type Method = MethodDefinition<object, object>;

/** By name. */
export const LINK_METHODS = Object.entries(gatewayService) as unknown as readonly (readonly [string, Method])[];

/** The status with which an empty call ends that is cut off after its first answer. */
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

/** An empty call may be refused for what it lacks, but by the handler. */
export const AUTHORIZED_STATUSES: readonly number[] = [grpcStatus.OK, grpcStatus.INVALID_ARGUMENT];
