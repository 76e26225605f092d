/**
 * Serialisation of responses by their schemas, compiled when a response of that schema is first sent, and once per process:
 * compiling those of all routes takes seconds of CPU at the start.
 */
import fastJsonStringify from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify';

type Serializer = (data: unknown) => string;

const serializers = new WeakMap<object, Serializer>();

export const serializerCompiler: FastifySerializerCompiler<object> =
  ({ schema }) =>
  (data) => {
    let serialize = serializers.get(schema);
    if (serialize === undefined) {
      serialize = fastJsonStringify(schema) as Serializer;
      serializers.set(schema, serialize);
    }
    return serialize(data);
  };
