// Before the first paint, so that no page flashes in the wrong colours. The rest is in src/stores/theme.ts.
try {
  const scheme = localStorage.getItem('color-scheme')
  if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset.theme = scheme
} catch (error) {
  console.warn('The colour scheme could not be read', error)
}
