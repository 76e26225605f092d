/** Shows a text as a QR code: dark on light in both themes, because some scanners read no inverted codes. */
import { encode } from 'uqr';

interface QrCodeProps {
  readonly text: string;
  readonly label: string;
}

const SIZE_PX = 200;

export function QrCode({ text, label }: QrCodeProps) {
  const { data, size } = encode(text, { ecc: 'M', border: 2 });
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg role="img" aria-label={label} width={SIZE_PX} height={SIZE_PX} viewBox={`0 0 ${size} ${size}`}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
