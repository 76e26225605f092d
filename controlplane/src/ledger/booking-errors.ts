/** What an error of Postgres says about a batch that could not be booked. */
import postgres from 'postgres';

/**
 * Another control plane with a shorter retention has dropped the partition. Postgres reports that as a check violation
 * without a constraint name.
 */
export const isMissingPartitionError = (error: unknown): error is postgres.PostgresError =>
  error instanceof postgres.PostgresError && error.code === '23514' && error.constraint_name === undefined;

/**
 * A record of the batch is booked already, occurs twice in the batch, or another transaction has booked it meanwhile.
 */
export const isDuplicateKeyError = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === '23505';

/**
 * Classes 21 (cardinality violation), 22 (data exception), 23 (integrity constraint violation) and 54 (limit exceeded): the
 * data is at fault, so a retry cannot help.
 */
export const isDataError = (error: unknown): error is postgres.PostgresError =>
  error instanceof postgres.PostgresError && /^(?:2[123]|54)/.test(error.code) && !isMissingPartitionError(error);
