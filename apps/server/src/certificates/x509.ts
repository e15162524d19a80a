/** What makes and reads certificates: 10 MB in memory, which a server only needs from its first one on. */
export async function loadX509() {
  await import('reflect-metadata')
  return await import('@peculiar/x509')
}
