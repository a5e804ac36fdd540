#!/bin/sh
# A ptxas that takes no text.
echo "ptxas fatal   : Unsupported .version"
exit 3
