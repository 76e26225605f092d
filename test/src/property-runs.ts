/**
 * Sets how often property tests run: few times in a submission, `PROPERTY_RUNS` times in `npm run test:deep`. A property
 * that starts databases or processes sets its own number. `PROPERTY_SEED` repeats the cases of a run; fast-check prints the
 * seed of a failure.
 */
import fc from 'fast-check';

const { PROPERTY_RUNS = '100', PROPERTY_SEED } = process.env;

fc.configureGlobal({
  numRuns: Number(PROPERTY_RUNS),
  ...(PROPERTY_SEED === undefined ? {} : { seed: Number(PROPERTY_SEED) }),
});
