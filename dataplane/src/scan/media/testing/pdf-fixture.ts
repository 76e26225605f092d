/** Test PDFs as common document printers write them: pages of deflated text, and a font with a character table. */
import { deflateSync } from 'node:zlib';

interface PdfOptions {
  readonly pages: number;
  /** Characters of text on each page. */
  readonly charsPerPage: number;
  /** Added to the dictionary of each page. */
  readonly ofPage?: string;
  /** Further objects. */
  readonly more?: readonly string[];
  /** Content of each page; text by default. */
  readonly content?: string;
}

const CMAP = '/CIDInit /ProcSet findresource begin 1 beginbfrange <20> <7e> <0020> endbfrange end';

export function createTestPdf({ pages, charsPerPage, ofPage = '', more = [], content }: PdfOptions): Buffer {
  const line = '(The quick brown fox jumps over the lazy dog. ) Tj 0 -14 Td\n';
  const text = content ?? `BT /F1 11 Tf 72 720 Td\n${line.repeat(Math.ceil(charsPerPage / 46))}ET`;
  const objects = [
    '1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n',
    '3 0 obj\n<< /Type /Font /Subtype /TrueType /BaseFont /Helvetica /ToUnicode 4 0 R >>\nendobj\n',
    createPdfStream(4, CMAP),
    ...more,
  ];
  const kids: string[] = [];
  for (let i = 0; i < pages; i++) {
    const page = 100 + 2 * i;
    kids.push(`${page} 0 R`);
    objects.push(
      `${page} 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${page + 1} 0 R ${ofPage}` +
        ' /Resources << /Font << /F1 3 0 R >> >> >>\nendobj\n',
      createPdfStream(page + 1, text),
    );
  }
  objects.push(`2 0 obj\n<< /Type /Pages /Count ${pages} /Kids [${kids.join(' ')}] >>\nendobj\n`);
  const tail = 'trailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n';
  return Buffer.from(`%PDF-1.7\n${objects.join('')}${tail}`, 'latin1');
}

/** Creates an object with deflated data. */
export function createPdfStream(number: number, content: string, more = ''): string {
  const data = deflateSync(Buffer.from(content, 'latin1'));
  const dictionary = `<< /Filter /FlateDecode /Length ${data.length} ${more}>>`;
  return `${number} 0 obj\n${dictionary}\nstream\n${data.toString('latin1')}\nendstream\nendobj\n`;
}
