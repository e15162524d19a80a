/** Every page of the console asks which certificates end soon; their rows are large. */
export const endsOfCertificates = `
CREATE INDEX certificates_end ON certificates (not_after);
`
