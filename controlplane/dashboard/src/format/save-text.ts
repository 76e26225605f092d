/** Saves a text as a file of the browser. A data URL, because the CSP allows no blob. */
export function saveText(name: string, mediaType: string, text: string): void {
  const link = document.createElement('a');
  link.href = `data:${mediaType};charset=utf-8,${encodeURIComponent(text)}`;
  link.download = name;
  link.click();
}
