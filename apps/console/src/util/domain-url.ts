/** Where visitors find a domain: every one is served at the https port of the installation itself. */
export function domainUrl(domain: string, publicUrl: string | undefined): string {
  const port = publicUrl ? URL.parse(publicUrl)?.port : ''
  return `https://${domain}${port ? `:${port}` : ''}`
}
