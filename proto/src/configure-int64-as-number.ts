/**
 * Makes the codec read 64-bit integers as plain numbers, as its types declare. Otherwise protobufjs returns Long
 * objects wherever the `long` package is installed. Must be imported before the generated code, which checks once.
 * Times and nano-dollars stay below 2^53; a larger value loses precision, never its magnitude.
 */
import protobuf from 'protobufjs/minimal.js';

(protobuf.util as { Long: unknown }).Long = null;
protobuf.configure();
