/** Redis Cluster slot of a key with the hash tag `tag`: CRC-16/XMODEM modulo 16384 (Redis Cluster specification). */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** `tag` must be ASCII; agent ids are. */
export function hashSlot(tag: string): number {
  let crc = 0;
  for (let i = 0; i < tag.length; i++) crc = ((crc << 8) & 0xffff) ^ TABLE[(crc >> 8) ^ (tag.charCodeAt(i) & 0xff)]!;
  return crc & 0x3fff;
}
