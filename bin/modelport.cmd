@node "%~dp0modelport.mjs" %*
