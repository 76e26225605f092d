/**
 * Makes the codec read 64-bit integers as plain numbers, as its types say: protobufjs would return Long objects
 * wherever the `long` package happens to be installed. Imported before the generated code, which looks once.
 * Times and nano-dollars stay below 2^53; a larger value on the wire loses precision, never its magnitude.
 */
import protobuf from 'protobufjs/minimal.js';

(protobuf.util as { Long: unknown }).Long = null;
protobuf.configure();
