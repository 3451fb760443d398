// Runs before the page is drawn, so that a dark console never flashes white. Mantine keeps the choice under this name.
const chosen = localStorage.getItem('mantine-color-scheme-value') ?? 'auto'
const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
document.documentElement.dataset.mantineColorScheme = chosen === 'auto' ? system : chosen
